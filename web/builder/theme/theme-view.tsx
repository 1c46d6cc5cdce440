import './theme-view.css';
import { type ReactElement, useState } from 'react';
import type { Settings } from '#ast/settings.ts';
import { type Scheme, schemesOf } from '#ast/theme/colour.ts';
import { useColorScheme } from '../../shell/theme.ts';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { applyThemeChange, drawableTheme, type ThemeChange } from '../model/theme-choices.ts';
import { FormPage } from '../preview/preview.tsx';
import type { OpenedForm } from '../saving/autosave.ts';
import type { AutosaveAndState } from '../saving/use-saving.ts';
import { SettingProblemsLink } from '../settings/setting-fields.tsx';
import type { SettingProblem } from '../settings/settings-values.ts';
import { ThemePanel } from './theme-panel.tsx';

type PreviewProps = {
  readonly formId: string;
  readonly saving: AutosaveAndState;
  readonly settings: Settings;
};

const schemes = [
  { id: 'light', label: 'Light' },
  { id: 'dark', label: 'Dark' },
] as const satisfies readonly { id: Scheme; label: string }[];

/** Shows the page of the form. A form that adapts to the device can be shown in both schemes. */
function ThemePreview({ settings, ...page }: PreviewProps): ReactElement {
  const [scheme, setScheme] = useState<Scheme>(useColorScheme());
  const [only, ...others] = schemesOf(drawableTheme(settings.theme ?? {}));
  return (
    <div className="theme-preview">
      <div className="preview-bar">
        <div className="preview-widths" role="group" aria-label="Shown">
          {schemes.map(({ id, label }) => (
            <button
              key={id}
              type="button"
              className="view-tab"
              aria-pressed={others.length > 0 ? id === scheme : id === only}
              disabled={others.length === 0}
              onClick={() => setScheme(id)}
            >
              {label}
            </button>
          ))}
        </div>
        <span className="soft small">Visitors see it after you publish.</span>
      </div>
      <FormPage {...page} scheme={scheme} width="100%" />
    </div>
  );
}

type ThemeProps = Pick<PreviewProps, 'saving'> & {
  readonly form: OpenedForm['form'];
  readonly problems: readonly SettingProblem[];
};

/** Edits the theme and page language beside a preview. Both belong to the working copy. */
export function ThemeView({
  form: { id: formId, workspace_id: workspaceId },
  saving,
  problems,
}: ThemeProps): ReactElement {
  const { editor, isReadOnly } = useBuilder();
  const { settings } = useEditorState(editor).history.present;
  const { theme = {}, locale = 'auto' } = settings;
  const own = problems.filter(({ view }) => view === 'theme');
  // An upload takes time, so the change is applied to the theme as it is when the upload ends.
  const changeTheme = (change: ThemeChange): void =>
    editor.changeSettings(
      ({ theme: old = {}, ...others }) => {
        const next = applyThemeChange(old, change);
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
            <p className="soft small">Saved with the form as you edit. Changes go live when you publish.</p>
          </div>
          <SettingProblemsLink problems={own} />
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
      <ThemePreview formId={formId} saving={saving} settings={settings} />
    </div>
  );
}
