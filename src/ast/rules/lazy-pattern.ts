import { compilePattern } from './pattern.ts';

/** Compiles patterns. The page's script loads it only for forms with patterns (web/page/start.ts). */
export const lazyPattern: { compile?: typeof compilePattern } = { compile: compilePattern };
