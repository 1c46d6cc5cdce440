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

/** The longest text that the service accepts, in bytes. */
const mostBytes = 5_000_000;

/** Reads a file as UTF-8, as UTF-16 if it has a byte order mark, or otherwise as Windows-1252. */
export async function readTextFile(file: File): Promise<{ text: string } | { problem: string }> {
  if (file.size > mostBytes) return { problem: `${file.name} is larger than 5 MB. Import it in parts.` };
  const bytes = new Uint8Array(await file.arrayBuffer());
  const encoding = encodingOf(bytes);
  return { text: new TextDecoder(encoding).decode(bytes) };
}

function encodingOf(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return 'utf-8';
  } catch {
    // Spreadsheets on Western Windows systems save in this code page by default.
    return 'windows-1252';
  }
}
