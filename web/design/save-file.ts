/** Downloads a text as a file. */
export const downloadTextFile = (name: string, text: string, type: string): void =>
  downloadFile(name, new Blob([text], { type }));

/** Downloads a file. */
export function downloadFile(name: string, file: Blob): void {
  const address = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
