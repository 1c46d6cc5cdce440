import './author-text.css';
import type { ReactNode } from 'react';
import { splitInlineMarkup } from '#ast/basics/inline-markup.ts';
import { splitPipedText } from './marked-text.ts';

/** Renders a text that shows answers. The label of each question is a chip. */
export const PipedText = ({ text }: { text: string }): ReactNode =>
  splitPipedText(text).map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      <bdi key={index} className="piped">
        {part}
      </bdi>
    ),
  );

/** Renders bold, italics and links of an author's text. `isOneLine` shows links as text, for cut lines. */
export const MarkedText = ({ text, isOneLine = false }: { text: string; isOneLine?: boolean }): ReactNode =>
  splitInlineMarkup(text).map(({ text: part, mark, href }, index) => {
    if (mark === 'i') return <i key={index}>{part}</i>;
    if (mark) return <b key={index}>{mark === 'b' ? part : <i>{part}</i>}</b>;
    return href === undefined || isOneLine ? (
      part
    ) : (
      <a key={index} href={href} target="_blank" rel="noopener noreferrer">
        {part}
      </a>
    );
  });
