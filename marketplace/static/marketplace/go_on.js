// Goes on with what is left by itself while the page is open, after it was asked to once.
const form = document.getElementById("go-on");
if (location.search === "?go-on" || form.hasAttribute("data-now")) {
  form.requestSubmit();
}
