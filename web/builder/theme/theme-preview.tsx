import { type ReactElement, useMemo, useState } from 'react';
import { type Scheme, schemesOf } from '#ast/theme/palette.ts';
import type { Settings } from '#ast/settings.ts';
import type { Theme } from '#ast/theme/theme.ts';
import { type Look, lookOf } from '#page/theme/look.ts';
import { schemeStyle } from '#page/theme/theme-style.ts';
import { useScheme } from '../../shell/theme.ts';
import { EmptyState } from '../../design/states.tsx';
import type { EditNode } from '../model/edit-node.ts';
import { validateRoot } from '../model/located-problems.ts';
import { PageFrame } from '../preview/page-frame.tsx';
import type { TrialSettings } from '../preview/trial.ts';
import { lookInScheme, schemeOf } from './look-in-scheme.ts';

type PreviewProps = {
  readonly root: EditNode;
  readonly formId: string;
  readonly settings: Settings;
  /** One that can be drawn. */
  readonly theme: Theme;
};

const schemes = [
  { id: 'light', label: 'Light' },
  { id: 'dark', label: 'Dark' },
] as const satisfies readonly { id: Scheme; label: string }[];

/** The form in its theme, as it is being chosen; a form that adapts can be seen in both of its looks. */
export function ThemePreview({ root, formId, settings, theme }: PreviewProps): ReactElement {
  const [wished, setScheme] = useState<Scheme>(useScheme());
  const result = validateRoot(root);
  const look = useLook(formId, theme, settings, wished);
  const trialSettings = useTrialSettings(settings);
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
        <span className="soft small">Visitors see it once you publish.</span>
      </div>
      {result.ok ? (
        <div className="preview-ground">
          <PageFrame form={result.form} settings={trialSettings} look={look} width="100%" />
        </div>
      ) : (
        <EmptyState icon="warning" title="Not ready to be shown">
          <p>Something in the form is incomplete: {result.errors[0]?.message}</p>
        </EmptyState>
      )}
    </div>
  );
}

/** The look of the theme, in the scheme that is wished for where there are two. */
function useLook(formId: string, theme: Theme, { locale }: Settings, wished: Scheme): Look {
  return useMemo(() => {
    const scheme = schemeOf(theme, wished);
    const look = lookOf(formId, { theme }, { isEmbedded: false, language: locale ?? 'en' });
    return lookInScheme({ ...look, style: `${look.style}\n${schemeStyle(theme, scheme)}` }, scheme);
  }, [formId, theme, locale, wished]);
}

/** The settings that the trial reads: the same object until one of them changes, or the trial would begin anew. */
function useTrialSettings({ confirmation_message, locale, theme, time_zone }: Settings): TrialSettings {
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
