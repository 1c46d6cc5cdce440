import { type ReactElement, useEffect, useRef, useState } from 'react';
import type { Scheme } from '#ast/theme/colour.ts';
import { themeStyle } from '#page/theme/page-style.ts';
import './preview-view.css';
import { Button } from '../../design/button.tsx';
import { Icon, type IconName } from '../../design/icon.tsx';
import { EmptyState } from '../../design/states.tsx';
import { useBuilder, useEditorState } from '../editor/use-editor.ts';
import { validateRoot } from '../model/form-problems.ts';
import { chooseSchemeToPreview, drawableTheme } from '../model/theme-choices.ts';
import type { AutosaveAndState } from '../saving/use-saving.ts';

const widths = [
  { id: 'desktop', label: 'Desktop', icon: 'desktop', width: '100%' },
  { id: 'phone', label: 'Phone, 375 px', icon: 'phone', width: '375px' },
] as const satisfies readonly { id: string; label: string; icon: IconName; width: string }[];

type PageProps = {
  readonly formId: string;
  readonly saving: AutosaveAndState;
  readonly width: string;
  /** The color scheme to show; undefined: as the device is set. */
  readonly scheme?: Scheme;
};

/**
 * Shows the page of the saved working copy as the server renders it, or why it cannot be shown yet. It follows
 * each save; the page's script keeps the entered answers. A change of the theme is shown before it is saved.
 */
export function FormPage({ formId, saving: { autosave, state }, width, scheme }: PageProps): ReactElement {
  const { root, settings } = useEditorState(useBuilder().editor).history.present;
  const frame = useRef<HTMLIFrameElement>(null);
  const [isSaved, setSaved] = useState(false);
  useEffect(() => void autosave.saveNow().finally(() => setSaved(true)), [autosave]);
  const savedAt = state.kind === 'saved' ? state.savedAt : undefined;
  useEffect(() => {
    // Null if the frame shows another site; blank while it loads the saved copy.
    const page = frame.current?.contentDocument;
    if (savedAt !== undefined && page && page.URL !== 'about:blank') page.location.reload();
  }, [savedAt]);
  const theme = drawableTheme(settings.theme ?? {});
  const style = themeStyle({ ...theme, ...(scheme && { mode: chooseSchemeToPreview(theme, scheme) }) });
  useEffect(() => {
    const page = frame.current?.contentDocument;
    if (!page?.defaultView) return;
    const sheet = new page.defaultView.CSSStyleSheet();
    sheet.replaceSync(style);
    page.adoptedStyleSheets = [sheet];
  }, [style]);
  const result = validateRoot(root);
  if (!result.ok)
    return (
      <EmptyState icon="warning" title="Not ready to preview">
        <p>The form is incomplete: {result.errors[0]?.message} The design view shows where.</p>
      </EmptyState>
    );
  return (
    <div className="preview-ground">
      {isSaved && (
        <iframe
          key={scheme}
          ref={frame}
          src={`/f/${formId}/preview${scheme ? `?_scheme=${scheme}` : ''}`}
          title="Form preview"
          className="preview-frame"
          style={{ inlineSize: width }}
        />
      )}
    </div>
  );
}

/**
 * Lets the author try the form as visitors will see it. Answers are checked but never stored (docs/rules.md
 * B6).
 */
export function PreviewView(props: Pick<PageProps, 'formId' | 'saving'>): ReactElement {
  const [width, setWidth] = useState<(typeof widths)[number]['id']>('desktop');
  const [round, setRound] = useState(0);
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
        <span className="soft small">Preview: your entries are checked but never saved.</span>
        <Button size="small" icon="refresh" onPress={() => setRound(round + 1)}>
          Start over
        </Button>
      </div>
      <FormPage {...props} key={round} width={chosen.width} />
    </div>
  );
}
