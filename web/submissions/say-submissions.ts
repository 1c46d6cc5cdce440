import { sayCount } from '#ast/say-count.ts';

/** "1 submission", "1,204 submissions". */
export const saySubmissions = (count: number): string => sayCount(count, 'submission');
