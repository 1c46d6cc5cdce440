import type { ReactElement } from 'react';
import { Icon } from '../../design/icon.tsx';
import { focusSetting, type SettingProblem } from './setting-problems.ts';
import { sayCount } from '#ast/say-count.ts';

/** At the head of a view of settings, always in sight: how many of them keep the form from being published, and the way to the first. */
export function ProblemLink({ problems }: { problems: readonly SettingProblem[] }): ReactElement | null {
  const [first] = problems;
  if (!first) return null;
  return (
    <button type="button" className="link-button settings-problem" onClick={() => focusSetting(first)}>
      <Icon name="warning" />
      {problems.length === 1
        ? `Not valid yet: ${first.title}`
        : `Not valid yet: ${sayCount(problems.length, 'setting')}`}
    </button>
  );
}
