import './difference-list.css';
import type { ReactElement } from 'react';
import { Chip } from '../../design/chip.tsx';
import type { Tone } from '../../design/message.tsx';
import type { Settings } from '#ast/settings.ts';
import { compareForms, type Difference } from '../model/compare.ts';
import { readStructure } from '../model/edit-node.ts';
import type { Moment } from '../model/history.ts';
import { compareSettings } from '../settings/compare-settings.ts';

const tones: Readonly<Record<Difference['kind'], [word: string, tone: Tone]>> = {
  added: ['Added', 'good'],
  removed: ['Removed', 'bad'],
  changed: ['Changed', 'info'],
  moved: ['Moved', 'warn'],
};

type Stored = { readonly structure: object; readonly settings: Settings | null };

/**
 * In what the form that is edited differs from one that is stored, or the other way round; undefined when that cannot
 * be read. Settings that were not recorded differ in nothing.
 */
export function compareDocuments(
  stored: Stored,
  edited: Pick<Moment, 'root' | 'settings'>,
  from: 'stored' | 'edited' = 'stored',
): readonly Difference[] | undefined {
  const read = readStructure(stored.structure);
  if (!read.ok) return undefined;
  const other = { root: read.root, settings: stored.settings ?? edited.settings };
  const [before, after] = from === 'stored' ? [other, edited] : [edited, other];
  return [...compareForms(before.root, after.root), ...compareSettings(before.settings, after.settings)];
}

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
