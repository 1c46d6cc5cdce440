/**
 * Returns the MIME type that the bytes of a file show, or undefined for text and others without a signature.
 * The library is loaded with the first file: its 35 modules are not needed by most processes.
 */
export async function typeOfBytes(bytes: Uint8Array): Promise<string | undefined> {
  const { fileTypeFromBuffer } = await import('file-type');
  return (await fileTypeFromBuffer(bytes))?.mime;
}
