/** Says when it was sent in the reader's own zone and habit, as the marketplace's pages do. */

const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
for (const time of document.querySelectorAll("time[datetime]")) {
  time.title = time.textContent;
  time.textContent = format.format(new Date(time.dateTime));
}
