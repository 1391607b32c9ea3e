// Rewrites the server's UTC times in the reader's own zone, in the page's language.
const format = new Intl.DateTimeFormat(document.documentElement.lang || undefined, {
  dateStyle: "medium",
  timeStyle: "short",
});
for (const element of document.querySelectorAll("time[datetime]")) {
  const time = new Date(element.dateTime);
  if (!Number.isNaN(time.valueOf())) {
    element.title = element.textContent;
    element.textContent = format.format(time);
  }
}
