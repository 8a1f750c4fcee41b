// Remembers the author in this browser.
const author = document.querySelector("input[name=author]");
if (author) {
  try { author.value ||= localStorage.getItem("ragstone-author") ?? ""; } catch { /* storage is not available */ }
  author.form.addEventListener("submit", () => {
    try { localStorage.setItem("ragstone-author", author.value); } catch { /* storage is not available */ }
  });
}
