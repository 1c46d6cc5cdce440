import './preview-view.css';
import { type ReactElement, useMemo, useState } from 'react';
import type { Settings } from '#ast/settings.ts';
import { styleOf } from '#page/render/elements/drawings.ts';
import { languageStyle } from '#page/render/language-switch.ts';
import { lookOf } from '#page/theme/look.ts';
import { Button } from '../../design/button.tsx';
import { Icon, type IconName } from '../../design/icon.tsx';
import { EmptyState } from '../../design/states.tsx';
import type { EditNode } from '../model/edit-node.ts';
import { validateRoot } from '../model/located-problems.ts';
import { drawableTheme } from '../theme/theme-choices.ts';
import { PageFrame } from './page-frame.tsx';

const widths = [
  { id: 'desktop', label: 'Desktop', icon: 'desktop', width: '100%' },
  { id: 'phone', label: 'Phone, 375 px', icon: 'phone', width: '375px' },
] as const satisfies readonly { id: string; label: string; icon: IconName; width: string }[];

/** The form to be tried, as visitors will have it: filled in, checked, and never stored (docs/rules.md B6). */
export function PreviewView({
  root,
  formId,
  settings,
}: {
  root: EditNode;
  formId: string;
  settings: Settings;
}): ReactElement {
  const [width, setWidth] = useState<(typeof widths)[number]['id']>('desktop');
  const [round, setRound] = useState(0);
  const result = validateRoot(root);
  const elements = result.ok ? `${styleOf(result.form)}\n${languageStyle}` : '';
  const look = useMemo(
    () =>
      lookOf(
        formId,
        { ...settings, theme: drawableTheme(settings.theme ?? {}), embed_origins: undefined },
        { isEmbedded: false, language: settings.locale ?? 'en', elements },
      ),
    [formId, settings, elements],
  );
  const chosen = widths.find(({ id }) => id === width)!;
  return (
    <div className="preview">
      <div className="preview-bar">
        <div className="preview-widths" role="group" aria-label="Width">
          {widths.map(({ id, label, icon }) => (
            <button
              key={id}
              type="button"
              className="view-tab"
              aria-pressed={id === width}
              onClick={() => setWidth(id)}
            >
              <Icon name={icon} />
              {label}
            </button>
          ))}
        </div>
        <span className="soft small">A test: what you enter is checked and stored nowhere.</span>
        <Button size="small" icon="refresh" onPress={() => setRound(round + 1)}>
          Start over
        </Button>
      </div>
      {result.ok ? (
        <div className="preview-ground">
          <PageFrame key={round} form={result.form} settings={settings} look={look} width={chosen.width} />
        </div>
      ) : (
        <EmptyState icon="warning" title="Not ready to be tried">
          <p>
            Something in the form is incomplete: {result.errors[0]?.message} The design view marks what it is.
          </p>
        </EmptyState>
      )}
    </div>
  );
}
