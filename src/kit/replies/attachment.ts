import { create as contentDisposition } from 'content-disposition';

/** Returns the header that makes browsers save a response under a file name. */
export const attachmentHeader = (name: string, ending: string): { 'Content-Disposition': string } => ({
  'Content-Disposition': contentDisposition(
    `${name
      .slice(0, 80)
      .replaceAll(/[\\/:]/g, '-')
      .toWellFormed()}${ending}`,
  ),
});
