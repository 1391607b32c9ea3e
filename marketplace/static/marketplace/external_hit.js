// What the service's own script gave to pages: reading the frame's address, naming the assignment.
function turkGetParam(name, fallback) {
  const value = new URLSearchParams(window.location.search).get(name);
  return value === null ? fallback || "" : value;
}

function turkGetSubmitToHost() {
  return turkGetParam("turkSubmitTo", "");
}

function turkSetAssignmentID(formId) {
  const form = document.getElementById(formId || "mturk_form");
  const field = form && form.elements.namedItem("assignmentId");
  if (field) field.value = turkGetParam("assignmentId", "");
}
