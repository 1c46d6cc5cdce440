import './drawn-page.css';
import { type ReactElement, useEffect, useRef } from 'react';
import { fillFrame } from './page-document.ts';

type Props = {
  readonly title: string;
  /** Writes the page. It must be a stable function. */
  readonly draw: (page: Document) => void;
};

/** A page in a frame. Nothing in it can be used. */
export function DrawnPage({ title, draw }: Props): ReactElement {
  const frame = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    const current = frame.current!;
    return fillFrame(current, (page) => {
      draw(page);
      page.body.style.pointerEvents = 'none';
      // As high as its content, so that it needs no scrollbar, and therefore no Tab stop.
      const resized = new ResizeObserver(() => {
        current.style.blockSize = `${page.body.scrollHeight}px`;
      });
      resized.observe(page.body);
      return () => resized.disconnect();
    });
  }, [draw]);
  return <iframe ref={frame} title={title} className="drawn-page" tabIndex={-1} />;
}
