import './template-picture.css';
import type { ReactElement } from 'react';
import { idOf } from '#ast/answers/options.ts';
import {
  type Element,
  isComposite,
  isInput,
  isSeen,
  layoutOf,
  levelsOf,
  matrixRowsOf,
  optionsOf,
} from '#ast/tree.ts';
import { addressOf } from '../templates/pictures.ts';
import type { Template } from '../templates/templates.ts';

/** A sketch of a form's first step: a bar for each label, what is asked below it, in its colour. Says nothing to screen readers. */
export function TemplatePicture({ structure, settings }: Template): ReactElement {
  const [step] = structure.children;
  const isGrid = step !== undefined && layoutOf(step) !== 'stack';
  return (
    <span className="sketch" aria-hidden="true">
      <Drawing id={settings?.theme?.cover} className="sketch-cover" />
      <span className="sketch-title" style={{ background: settings?.theme?.color }} />
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
  if (element.type === 'image') return <Drawing id={element.attrs.image} className="sketch-image" />;
  const isWide = (element.attrs?.col_span ?? 1) > 1;
  return (
    <span className={`sketch-field${isWide ? ' sketch-wide' : ''}`}>
      <span className="sketch-label" />
      <Control element={element} />
    </span>
  );
}

/** What an answer is given with: options below each other, marks beside each other, a table of both, or a box. */
function Control({ element }: { element: Exclude<Element, { type: 'composite' }> }): ReactElement {
  const options = isInput(element) && element.type !== 'dropdown' ? optionsOf(element) : [];
  const marks = isInput(element) ? levelsOf(element) : [];
  const rows = isInput(element) ? matrixRowsOf(element) : [];
  if (rows.length > 0)
    return (
      <>
        {rows.slice(0, 3).map(({ id }) => (
          <Marks key={id} count={options.length} />
        ))}
      </>
    );
  if (marks.length > 0) return <Marks count={marks.length} />;
  if (element.type === 'picture_choice')
    return (
      <span className="sketch-marks">
        {options.map((option) => (
          <Drawing
            key={idOf(option)}
            id={typeof option === 'string' ? undefined : option.image}
            className="sketch-choice"
          />
        ))}
      </span>
    );
  if (options.length > 0)
    return (
      <>
        {options.slice(0, 3).map(({ id }) => (
          <span key={id} className="sketch-option" />
        ))}
      </>
    );
  return <span className={`sketch-box${element.type === 'textarea' ? ' sketch-tall' : ''}`} />;
}

function Marks({ count }: { count: number }): ReactElement {
  return (
    <span className="sketch-marks">
      {Array.from({ length: count }, (_, index) => (
        <span key={index} className="sketch-mark" />
      ))}
    </span>
  );
}

function Drawing({ id, className }: { id: string | undefined; className: string }): ReactElement | null {
  const address = addressOf(id);
  return address === undefined ? null : <img className={className} src={address} alt="" />;
}
