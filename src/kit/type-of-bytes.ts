/**
 * The MIME type that the bytes of a file show; undefined for one that they do not, such as text. What knows the types is loaded
 * with the first file: that is 35 modules, which most processes never need.
 */
export async function typeOfBytes(bytes: Uint8Array): Promise<string | undefined> {
  const { fileTypeFromBuffer } = await import('file-type');
  return (await fileTypeFromBuffer(bytes))?.mime;
}
