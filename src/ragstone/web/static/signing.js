// The form that saves a version: remembers the author in this browser, and chooses the value that is being written.
const author = document.querySelector("input[name=author]");
if (author) {
  try { author.value ||= localStorage.getItem("ragstone-author") ?? ""; } catch { /* storage is not available */ }
  author.form.addEventListener("submit", () => {
    try { localStorage.setItem("ragstone-author", author.value); } catch { /* storage is not available */ }
  });
}
for (const box of document.querySelectorAll(".side.written")) {
  const choose = () => { box.querySelector("input[type=radio]").checked = true; };
  box.addEventListener("input", (event) => { if (event.target.matches("textarea, select")) choose(); });
}
