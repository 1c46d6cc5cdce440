import { create as contentDisposition } from 'content-disposition';

/** Returns a file name that is valid on every system. */
export const fileNameOf = (name: string, ending: string): string =>
  `${name
    .slice(0, 80)
    .replaceAll(/[\\/:]/g, '-')
    .toWellFormed()}${ending}`;

/** Returns the header that makes browsers save a response under a file name. */
export const attachmentHeader = (name: string, ending: string): { 'Content-Disposition': string } => ({
  'Content-Disposition': contentDisposition(fileNameOf(name, ending)),
});
