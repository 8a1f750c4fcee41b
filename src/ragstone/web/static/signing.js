// Who signs is remembered in this browser.
const author = document.querySelector("input[name=author]");
if (author) {
  if (!author.value) author.value = localStorage.getItem("ragstone-author") ?? "";
  author.form.addEventListener("submit", () => localStorage.setItem("ragstone-author", author.value));
}
