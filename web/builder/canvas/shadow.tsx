import { type ReactNode, type Ref, useCallback, useLayoutEffect, useState } from 'react';
import { createPortal } from 'react-dom';
import { canvasSheets, facesIn, scopeStylesheet } from './canvas-style.ts';
import type { Manner } from './page-markup.ts';

type ShadowProps = {
  readonly children: ReactNode;
  readonly hostRef: Ref<HTMLDivElement>;
  readonly manner: Pick<Manner, 'look' | 'scheme'>;
};

/** Draws its children where the console's style sheet does not reach and the respondent's does, in the form's theme. */
export function Shadow({ children, hostRef, manner }: ShadowProps): ReactNode {
  const { scheme, look } = manner;
  const { style } = look;
  const [root, setRoot] = useState<ShadowRoot | undefined>();
  const attach = useCallback(
    (host: HTMLDivElement | null) => {
      if (typeof hostRef === 'function') hostRef(host);
      else if (hostRef) hostRef.current = host;
      if (host) setRoot(host.shadowRoot ?? host.attachShadow({ mode: 'open' }));
    },
    [hostRef],
  );
  useLayoutEffect(() => {
    if (root) root.adoptedStyleSheets = canvasSheets(scopeStylesheet(style));
  }, [root, style]);
  useFaces(style);
  return (
    <div ref={attach} className="canvas-host" data-scheme={scheme}>
      {root && createPortal(children, root)}
    </div>
  );
}

/** A face is known to a shadow root only when it is to the document. */
function useFaces(style: string): void {
  useLayoutEffect(() => {
    const faces = new CSSStyleSheet();
    faces.replaceSync(facesIn(style));
    document.adoptedStyleSheets.push(faces);
    return () => {
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== faces);
    };
  }, [style]);
}
