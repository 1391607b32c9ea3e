// Shows the button that prints the page, where scripts run at all.
const button = document.getElementById("print");
button.hidden = false;
button.addEventListener("click", () => window.print());
