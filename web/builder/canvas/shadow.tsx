import { type ReactNode, type Ref, useCallback, useState, useSyncExternalStore } from 'react';
import { createPortal } from 'react-dom';
import { canvasSheets } from './canvas-style.ts';

/**
 * Draws its children where the console's style sheet does not reach and the respondent's does. The theme is the
 * console's own, whether the person or the system chose it.
 */
export function Shadow({
  children,
  hostRef,
}: {
  children: ReactNode;
  hostRef: Ref<HTMLDivElement>;
}): ReactNode {
  const [root, setRoot] = useState<ShadowRoot | undefined>();
  const theme = useSyncExternalStore(watchTheme, readTheme);
  const attach = useCallback(
    (host: HTMLDivElement | null) => {
      if (typeof hostRef === 'function') hostRef(host);
      else if (hostRef) hostRef.current = host;
      if (!host) return;
      const shadow = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
      shadow.adoptedStyleSheets = [...canvasSheets()];
      setRoot(shadow);
    },
    [hostRef],
  );
  return (
    <div ref={attach} data-theme={theme}>
      {root && createPortal(children, root)}
    </div>
  );
}

/** The theme that is in force: the chosen one (shell/theme.ts), else the system's. */
function readTheme(): 'light' | 'dark' {
  const chosen = document.documentElement.dataset['theme'];
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

function watchTheme(onChange: () => void): () => void {
  const observer = new MutationObserver(onChange);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  const preference = matchMedia('(prefers-color-scheme: dark)');
  preference.addEventListener('change', onChange);
  return () => {
    observer.disconnect();
    preference.removeEventListener('change', onChange);
  };
}
