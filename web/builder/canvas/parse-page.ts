/**
 * A whole page of the page renderer as a document to copy from. Without its style sheet: the console's content policy
 * refuses inline styles, and whoever shows the page brings the same one as a constructed sheet.
 */
export function parsePage(text: string): Document {
  return new DOMParser().parseFromString(text.replace(/<style>[^]*?<\/style>/, ''), 'text/html');
}
