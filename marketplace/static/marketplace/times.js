// Rewrites the server's UTC times in the reader's own zone, in the page's language.
const language = document.documentElement.lang;
// A browser that speaks the page's language knows its reader's habit, such as the 24-hour clock.
const habit = navigator.languages.find((one) => one.split("-")[0] === language) ?? language;
const format = new Intl.DateTimeFormat(habit, {
  dateStyle: "medium",
  timeStyle: "short",
});
// What the pointer shows over a time is the same time in UTC, by the same clock.
const utc = new Intl.DateTimeFormat(habit, {
  year: "numeric", month: "short", day: "numeric", hour: "numeric", minute: "2-digit",
  timeZone: "UTC", timeZoneName: "short",
});
for (const element of document.querySelectorAll("time[datetime]")) {
  const time = new Date(element.dateTime);
  if (!Number.isNaN(time.valueOf())) {
    element.title = utc.format(time);
    element.textContent = format.format(time);
  }
}
