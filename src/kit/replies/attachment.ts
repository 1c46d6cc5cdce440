import { create as contentDisposition } from 'content-disposition';

/** What makes a browser save an answer: under a name that people gave something, and what stands behind it. */
export const attachment = (name: string, ending: string): { 'Content-Disposition': string } => ({
  'Content-Disposition': contentDisposition(
    `${name
      .slice(0, 80)
      .replaceAll(/[\\/:]/g, '-')
      .toWellFormed()}${ending}`,
  ),
});
