import type { ReactNode } from 'react';
import { splitInlineMarkup } from '#ast/basics/inline-markup.ts';

/** Renders bold, italics and links of an author's text. `isOneLine` shows links as text, for cut lines. */
export const MarkedText = ({ text, isOneLine = false }: { text: string; isOneLine?: boolean }): ReactNode =>
  splitInlineMarkup(text).map(({ text: part, mark: Mark, href }, index) => {
    if (Mark) return <Mark key={index}>{part}</Mark>;
    return href === undefined || isOneLine ? (
      part
    ) : (
      <a key={index} href={href} target="_blank" rel="noopener noreferrer">
        {part}
      </a>
    );
  });
