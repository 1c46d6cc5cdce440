import './template-picture.css';
import type { ReactElement } from 'react';
import { type Element, type Form, isComposite, isInput, isSeen, layoutOf, optionsOf } from '#ast/tree.ts';

/** A sketch of a form's first step: a bar for each label, a box for each input. Says nothing to screen readers. */
export function TemplatePicture({ form }: { form: Form }): ReactElement {
  const [step] = form.children;
  const isGrid = step !== undefined && layoutOf(step) !== 'stack';
  return (
    <span className="sketch" aria-hidden="true">
      <span className="sketch-title" />
      {step?.children.length === 0 && <span className="sketch-empty">+</span>}
      <span className={`sketch-body${isGrid ? ' sketch-grid' : ''}`}>
        {step?.children.map((element, index) => (
          <Sketch key={index} element={element} />
        ))}
      </span>
    </span>
  );
}

function Sketch({ element }: { element: Element }): ReactElement | null {
  if (!isSeen(element)) return null;
  if (isComposite(element)) {
    return (
      <span className="sketch-group">
        {element.children.map((child, index) => (
          <Sketch key={index} element={child} />
        ))}
      </span>
    );
  }
  const isWide = (element.attrs?.col_span ?? 1) > 1;
  const options = isInput(element) && element.type !== 'dropdown' ? optionsOf(element) : [];
  return (
    <span className={`sketch-field${isWide ? ' sketch-wide' : ''}`}>
      <span className="sketch-label" />
      {options.length > 0 ? (
        options.slice(0, 3).map(({ id }) => <span key={id} className="sketch-option" />)
      ) : (
        <span className={`sketch-box${element.type === 'textarea' ? ' sketch-tall' : ''}`} />
      )}
    </span>
  );
}
