// Publishes the next rows by itself while the page is open, after it was asked to once.
if (location.search === "?go-on") {
  document.getElementById("go-on").requestSubmit();
}
