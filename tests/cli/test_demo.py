"""The shipped example."""


def test_the_second_system_suggests_the_comparison(cli, home):
    assert "ragstone demo worse -o 'my store'" in cli("demo", "-o", "my store").out.replace("\n", " ")
    worse = cli("demo", "worse", "-o", "my store").out
    assert "compare harbour-worse harbour-better -o 'my store'" in worse
    compared = cli("compare", "harbour-worse", "harbour-better", "-o", "my store")
    assert compared.code == 0
    assert "gate harbour-better --against harbour-worse --max-drop 0.02 -o 'my store'" in compared.out


def test_the_chat_explains_its_wrong_turn(cli, home):
    chat = cli("demo", "chat", "-o", "store").out
    assert "explain harbour-chat c2-2 -o store" in chat
    assert "away for overhaul" in cli("explain", "harbour-chat", "c2-2", "-o", "store").out
