// Who signs is remembered in this browser.
const author = document.querySelector("input[name=author]");
if (author) {
  try { author.value ||= localStorage.getItem("ragstone-author") ?? ""; } catch { /* nothing can be kept here */ }
  author.form.addEventListener("submit", () => {
    try { localStorage.setItem("ragstone-author", author.value); } catch { /* then it is asked for again */ }
  });
}
