import './piped-text.css';
import type { ReactNode } from 'react';
import { splitPipedText } from './split-piped-text.ts';

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
