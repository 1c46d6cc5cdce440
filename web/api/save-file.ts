/** As long as a browser may need to begin to copy a file. */
const copyingMs = 60_000;

/** The browser saves a file where it keeps downloads. */
export function saveFile(file: File): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = file.name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), copyingMs);
}
