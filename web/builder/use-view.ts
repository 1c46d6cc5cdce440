import { type Dispatch, type SetStateAction, useCallback, useState } from 'react';
import { changedSettings } from '#ast/merge-settings.ts';
import type { Editor } from './editor/editor.ts';
import type { Moment } from './model/history.ts';
import { viewOfSetting } from './settings/setting-words.ts';
import type { BuilderView } from './view-tabs.tsx';

type Viewing = {
  readonly view: BuilderView;
  readonly setView: Dispatch<SetStateAction<BuilderView>>;
  /** Undoes or does again, and shows where: nothing changes out of sight. */
  readonly travel: (step: 'undo' | 'redo') => void;
};

/** The view on the form that is open. */
export function useView(editor: Editor): Viewing {
  const [view, setView] = useState<BuilderView>('design');
  const travel = useCallback(
    (step: 'undo' | 'redo') => {
      const before = editor.read().history.present;
      editor[step]();
      const after = editor.read().history.present;
      setView((now) => viewOfChange(before, after, now));
    },
    [editor],
  );
  return { view, setView, travel };
}

/** Views in which a change of the form is seen. */
const showForm: ReadonlySet<BuilderView> = new Set(['design', 'preview', 'theme', 'languages', 'json']);

function viewOfChange(before: Moment, after: Moment, now: BuilderView): BuilderView {
  if (before.root !== after.root) return showForm.has(now) ? now : 'design';
  const [changed] = changedSettings(before.settings, after.settings);
  return changed === undefined ? now : viewOfSetting(changed);
}
