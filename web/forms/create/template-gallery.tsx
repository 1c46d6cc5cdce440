import './template-gallery.css';
import { type ReactElement, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { uploadImage } from '../../api/operations.ts';
import { SearchField } from '../../design/field.tsx';
import {
  drawingUrl,
  prepareTemplate,
  searchTextOf,
  type Template,
  templateGroups,
} from '../templates/templates.ts';
import { type NewForm, newFormSettings } from './new-form-settings.ts';
import './template-picture.css';
import { optionIdOf } from '#ast/basics/options.ts';
import {
  type Element,
  isComposite,
  isInput,
  isVisibleToVisitors,
  layoutOf,
  matrixRowsOf,
  optionsOf,
  scaleLevelsOf,
} from '#ast/form/tree.ts';

/**
 * A sketch of a form's first step: a bar for each label with a control below it, in the form's color. Hidden
 * from screen readers.
 */
function TemplatePicture({ structure, settings }: Template): ReactElement {
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
  if (!isVisibleToVisitors(element)) return null;
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

/** A sketch of a control: stacked options, marks side by side, a table of both, or a box. */
function Control({ element }: { element: Exclude<Element, { type: 'composite' }> }): ReactElement {
  const options = isInput(element) && element.type !== 'dropdown' ? optionsOf(element) : [];
  const marks = isInput(element) ? scaleLevelsOf(element) : [];
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
            key={optionIdOf(option)}
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
  const address = drawingUrl(id);
  return address === undefined ? null : <img className={className} src={address} alt="" />;
}

/**
 * Uploads one of our drawings to a workspace. Converts it to a bitmap in its own width and height, because a
 * workspace only stores bitmap images.
 * @throws ApiProblem as `uploadImage` does, or a browser error if the drawing cannot be loaded.
 */
async function uploadDrawing(workspaceId: string, address: string): Promise<string> {
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
  canvas.getContext('2d')!.drawImage(image, 0, 0);
  const pixels = await canvas.convertToBlob();
  return uploadImage(workspaceId, new File([pixels], 'picture.png', { type: pixels.type }));
}

/** The templates in groups, as cards with a sketch. A search shows only matching templates. */
export function TemplateGallery({
  workspaceId,
  onCreate,
  isPending,
}: {
  workspaceId: string;
  onCreate: (make: () => Promise<NewForm>) => void;
  isPending: boolean;
}): ReactElement {
  const [search, setSearch] = useState('');
  const [chosen, setChosen] = useState<Template | undefined>();
  const choose = (template: Template): void => {
    setChosen(template);
    onCreate(async () => {
      const { structure, settings } = await prepareTemplate(template, (address) =>
        uploadDrawing(workspaceId, address),
      );
      return { structure, settings: { ...newFormSettings(), ...settings } };
    });
  };
  const wanted = search.trim().toLowerCase();
  const groups = templateGroups
    .map(({ title, templates }) => ({
      title,
      templates: templates.filter((template) => searchTextOf(template).includes(wanted)),
    }))
    .filter(({ templates }) => templates.length > 0);
  return (
    <div className="template-gallery">
      <SearchField
        label="Search templates"
        placeholder="Quiz, signature, stars…"
        value={search}
        onChange={setSearch}
      />
      {groups.map(({ title, templates }) => (
        <section key={title} aria-label={title} className="template-group">
          <h2>{title}</h2>
          <div className="template-grid">
            {templates.map((template) => (
              <Button
                key={template.id}
                className="template"
                isDisabled={isPending && chosen !== template}
                isPending={isPending && chosen === template}
                onPress={() => choose(template)}
              >
                <TemplatePicture {...template} />
                <span className="template-text">
                  <span className="template-name">{template.title}</span>
                  <span className="soft small">{template.description}</span>
                </span>
                {isPending && chosen === template && <span className="button-spinner" aria-hidden="true" />}
              </Button>
            ))}
          </div>
        </section>
      ))}
      {groups.length === 0 && (
        <p className="soft" role="status">
          No template matches “{search.trim()}”. Start with a blank form instead.
        </p>
      )}
    </div>
  );
}
