"""Replies in object storage: shared, never broken, never in the way."""

from ragstone.llm.cache import Cache, DistantCache, make_key, open_cache

KEY = make_key({"question": "Which?"})


def test_replies_come_back_from_a_bucket(bucket):
    cache = DistantCache(f"{bucket.url}/replies")
    assert cache.read(KEY) is None
    cache.write(KEY, {"text": "This. 中"})
    assert DistantCache(f"{bucket.url}/replies").read(KEY) == {"text": "This. 中"}
    assert cache.size().entries == 1
    assert cache.size().size_bytes > 10
    assert cache.clear().entries == 1
    assert cache.read(KEY) is None
    assert cache.problem is None


def test_a_broken_entry_is_a_miss(bucket):
    cache = DistantCache(f"{bucket.url}/replies")
    bucket.write(f"replies/{KEY[:2]}/{KEY[2:]}.json", b'{"half')
    assert cache.read(KEY) is None


def test_what_cannot_be_written_is_told_once_and_fails_nothing(bucket):
    cache = DistantCache("s3://no-such-bucket-at-all/replies")
    cache.write(KEY, "x")
    assert "replies are not stored in s3://no-such-bucket-at-all/replies" in cache.problem
    assert cache.read(KEY) is None


def test_the_kind_of_cache_follows_its_address(bucket, tmp_path, monkeypatch):
    assert type(open_cache(tmp_path)) is Cache
    monkeypatch.setenv("RAGSTONE_CACHE", f"{bucket.url}/replies")
    assert isinstance(open_cache(), DistantCache)
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "here"))
    assert open_cache().folder == tmp_path / "here"
