import { openConsoleBrowser } from '#test/console-browser.ts';
import { openOutside, recordedTree } from '#test/record/outside.ts';

/** The service whose console is photographed. */
export const outside = await openOutside(recordedTree, { hasMail: false });
export const browser = await openConsoleBrowser(outside);
