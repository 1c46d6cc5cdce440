import './theme-view.css';
import { type ReactElement, useMemo, useState } from 'react';
import type { Settings } from '#ast/settings.ts';
import { type Scheme, schemesOf } from '#ast/theme/colour.ts';
import type { Theme } from '#ast/theme/theme.ts';
import { getPageStyle, type PageStyle, schemeStyle } from '#page/theme/page-style.ts';
import { EmptyState } from '../../design/states.tsx';
import { useColorScheme } from '../../shell/theme.ts';
import { chooseSchemeToPreview, withSchemeLogo } from '../canvas/preview-scheme.ts';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import type { EditNode } from '../model/edit-node.ts';
import { validateRoot } from '../model/form-problems.ts';
import { applyThemeChange, drawableTheme, type ThemeChange } from '../model/theme-choices.ts';
import type { PreviewSettings } from '../preview/form-preview.ts';
import { PageFrame } from '../preview/preview.tsx';
import type { OpenedForm } from '../saving/autosave.ts';
import { SettingProblemsLink } from '../settings/setting-fields.tsx';
import type { SettingProblem } from '../settings/settings-values.ts';
import { ThemePanel } from './theme-panel.tsx';

type PreviewProps = {
  readonly root: EditNode;
  readonly formId: string;
  readonly settings: Settings;
  /** The theme, with valid colors only. */
  readonly theme: Theme;
};

const schemes = [
  { id: 'light', label: 'Light' },
  { id: 'dark', label: 'Dark' },
] as const satisfies readonly { id: Scheme; label: string }[];

/** Previews the form in its theme. A form that adapts to the device can be previewed in both schemes. */
function ThemePreview({ root, formId, settings, theme }: PreviewProps): ReactElement {
  const [wished, setScheme] = useState<Scheme>(useColorScheme());
  const result = validateRoot(root);
  const look = useLook(formId, theme, settings, wished);
  const trialSettings = usePreviewSettings(settings);
  const [only, ...others] = schemesOf(theme);
  return (
    <div className="theme-preview">
      <div className="preview-bar">
        <div className="preview-widths" role="group" aria-label="Shown">
          {schemes.map(({ id, label }) => (
            <button
              key={id}
              type="button"
              className="view-tab"
              aria-pressed={others.length > 0 ? id === wished : id === only}
              disabled={others.length === 0}
              onClick={() => setScheme(id)}
            >
              {label}
            </button>
          ))}
        </div>
        <span className="soft small">Visitors see it after you publish.</span>
      </div>
      {result.ok ? (
        <div className="preview-ground">
          <PageFrame form={result.form} settings={trialSettings} look={look} width="100%" />
        </div>
      ) : (
        <EmptyState icon="warning" title="Not ready to preview">
          <p>The form is incomplete: {result.errors[0]?.message}</p>
        </EmptyState>
      )}
    </div>
  );
}

/** Returns the page style for a theme, in the requested color scheme if the theme has both. */
function useLook(formId: string, theme: Theme, { locale }: Settings, wished: Scheme): PageStyle {
  return useMemo(() => {
    const scheme = chooseSchemeToPreview(theme, wished);
    const look = getPageStyle(formId, { theme }, { isEmbedded: false, language: locale ?? 'en' });
    return withSchemeLogo({ ...look, style: `${look.style}\n${schemeStyle(theme, scheme)}` }, scheme);
  }, [formId, theme, locale, wished]);
}

/**
 * Returns the settings for the preview. The object is stable until one of them changes, so that the preview
 * does not restart.
 */
function usePreviewSettings({ confirmation_message, locale, theme, time_zone }: Settings): PreviewSettings {
  const { submit_label, confirmation_title } = theme ?? {};
  return useMemo(
    () => ({
      ...(confirmation_message !== undefined && { confirmation_message }),
      ...(locale !== undefined && { locale }),
      ...(time_zone !== undefined && { time_zone }),
      theme: {
        ...(submit_label !== undefined && { submit_label }),
        ...(confirmation_title !== undefined && { confirmation_title }),
      },
    }),
    [confirmation_message, locale, submit_label, confirmation_title, time_zone],
  );
}

type ThemeProps = {
  readonly form: OpenedForm['form'];
  readonly problems: readonly SettingProblem[];
};

/** Edits the theme and page language beside a preview. Both belong to the working copy. */
export function ThemeView({
  form: { id: formId, workspace_id: workspaceId },
  problems,
}: ThemeProps): ReactElement {
  const { editor, isReadOnly } = useBuilder();
  const { root, settings } = useEditorState(editor).history.present;
  const { theme = {}, locale = 'auto' } = settings;
  const drawable = useMemo(() => drawableTheme(settings.theme ?? {}), [settings.theme]);
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
      <ThemePreview root={root} formId={formId} settings={settings} theme={drawable} />
    </div>
  );
}
