import './theme-view.css';
import { type ReactElement, useMemo } from 'react';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import type { BuilderForm } from '../saving/builder-api.ts';
import { ProblemLink } from '../settings/problem-link.tsx';
import type { SettingProblem } from '../settings/setting-problems.ts';
import { changedTheme, drawableTheme, type ThemeChange } from './theme-choices.ts';
import { ThemePanel } from './theme-panel.tsx';
import { ThemePreview } from './theme-preview.tsx';

type ThemeProps = {
  readonly form: BuilderForm['form'];
  readonly problems: readonly SettingProblem[];
};

/** How the form looks and in which language it speaks, with its page beside: part of the working copy. */
export function ThemeView({
  form: { id: formId, workspace_id: workspaceId },
  problems,
}: ThemeProps): ReactElement {
  const { editor, isReadOnly } = useBuilder();
  const { root, settings } = useEditorState(editor).history.present;
  const { theme = {}, locale = 'auto' } = settings;
  const drawable = useMemo(() => drawableTheme(settings.theme ?? {}), [settings.theme]);
  const own = problems.filter(({ view }) => view === 'theme');
  // An image may take its time: what was chosen while it was on its way is in the theme that it is put into.
  const changeTheme = (change: ThemeChange): void =>
    editor.changeSettings(
      ({ theme: old = {}, ...others }) => {
        const next = changedTheme(old, change);
        return { ...others, ...(next && { theme: next }) };
      },
      `theme ${Object.keys(change).join()}`,
    );
  return (
    <div className="theme-view">
      <form className="theme-panel" aria-label="Theme" onSubmit={(event) => event.preventDefault()}>
        <div className="settings-head">
          <div>
            <h2>Theme</h2>
            <p className="soft small">
              Saved as you choose, with the form. Visitors see it once you publish.
            </p>
          </div>
          <ProblemLink problems={own} />
        </div>
        <ThemePanel
          formId={formId}
          workspaceId={workspaceId}
          theme={theme}
          locale={locale}
          isReadOnly={isReadOnly}
          error={(name) => own.find(({ field }) => field === name)?.message}
          onTheme={changeTheme}
          onLocale={(next) =>
            editor.changeSettings(({ locale: _old, ...others }) => ({
              ...others,
              ...(next !== 'auto' && { locale: next }),
            }))
          }
        />
      </form>
      <ThemePreview root={root} formId={formId} settings={settings} theme={drawable} />
    </div>
  );
}
