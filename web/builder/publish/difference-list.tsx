import './difference-list.css';
import type { ReactElement } from 'react';
import { Chip } from '../../design/chip.tsx';
import type { Tone } from '../../design/message.tsx';
import type { Difference } from '../model/compare.ts';

const tones: Readonly<Record<Difference['kind'], [word: string, tone: Tone]>> = {
  added: ['Added', 'good'],
  removed: ['Removed', 'bad'],
  changed: ['Changed', 'info'],
  moved: ['Moved', 'warn'],
};

/** Differences in words; `none` is what is said when there are none. */
export function DifferenceList({
  differences,
  none,
}: {
  differences: readonly Difference[];
  none: string;
}): ReactElement {
  if (differences.length === 0) return <p className="soft">{none}</p>;
  return (
    <ul role="list" className="differences">
      {differences.map(({ kind, subject, details }, index) => (
        <li key={index}>
          <Chip tone={tones[kind][1]}>{tones[kind][0]}</Chip>
          <div>
            <span>{subject}</span>
            {details.map((detail) => (
              <p key={detail} className="soft small">
                {detail}
              </p>
            ))}
          </div>
        </li>
      ))}
    </ul>
  );
}
