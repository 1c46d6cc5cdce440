import { type ComponentProps, type ReactElement, useEffect, useRef, useState } from 'react';
import { readQuestion } from '#ast/search.ts';
import { QuestionBox } from './question-box.tsx';

/** A pause in typing after which the search begins. */
const typingMs = 250;

type Props = Omit<ComponentProps<typeof QuestionBox>, 'value' | 'onChange'> & {
  /** The question that the address has. */
  q: string | undefined;
  onChange: (q: string | undefined) => void;
};

/** The question of a screen, asked when its writer pauses. What cannot be asked is said in the box, and changes nothing. */
export function AskedQuestion({ q, onChange, ...box }: Props): ReactElement {
  const [text, setText] = useState(q ?? '');
  const asked = useRef(q);
  const change = useRef(onChange);
  change.current = onChange;
  // The address may change by itself: by the browser's Back, by Clear, or by the finder.
  useEffect(() => {
    if (q === asked.current) return;
    asked.current = q;
    setText(q ?? '');
  }, [q]);
  useEffect(() => {
    const next = text.trim() || undefined;
    if (next === asked.current || readQuestion(next ?? '').problems.length > 0) return undefined;
    const timer = setTimeout(() => {
      asked.current = next;
      change.current(next);
    }, typingMs);
    return () => clearTimeout(timer);
  }, [text]);
  return <QuestionBox {...box} value={text} onChange={setText} />;
}
