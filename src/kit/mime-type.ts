/**
 * Returns the MIME type that the bytes of a file indicate, or undefined for text and other files without a
 * signature. The library is loaded with the first file, because most processes do not need its 35 modules.
 */
export async function typeOfBytes(bytes: Uint8Array): Promise<string | undefined> {
  const { fileTypeFromBuffer } = await import('file-type');
  return (await fileTypeFromBuffer(bytes))?.mime;
}
