/**
 * A whole page of the page renderer as a document to copy from. Without its style sheets: the console's content policy
 * refuses inline styles, and whoever shows the page brings the same ones as constructed sheets.
 */
export function parsePage(text: string): Document {
  return new DOMParser().parseFromString(text.replaceAll(/<style>[^]*?<\/style>/g, ''), 'text/html');
}
