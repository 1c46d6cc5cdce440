import './template-gallery.css';
import { type ReactElement, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { SearchField } from '../../design/field.tsx';
import { beginFrom } from '../templates/begin-from.ts';
import { type Template, templateGroups, wordsOf } from '../templates/templates.ts';
import { type NewForm, newFormSettings } from './new-form-settings.ts';
import { TemplatePicture } from './template-picture.tsx';
import { uploadDrawing } from './upload-drawing.ts';

/** The templates in groups, as cards with a sketch of what is in them; a word finds those that say it. */
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
      const { structure, settings } = await beginFrom(template, (address) =>
        uploadDrawing(workspaceId, address),
      );
      return { structure, settings: { ...newFormSettings(), ...settings } };
    });
  };
  const wanted = search.trim().toLowerCase();
  const groups = templateGroups
    .map(({ title, templates }) => ({
      title,
      templates: templates.filter((template) => wordsOf(template).includes(wanted)),
    }))
    .filter(({ templates }) => templates.length > 0);
  return (
    <div className="template-gallery">
      <SearchField
        label="Find a template"
        placeholder="Quiz, signature, stars …"
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
          No template says “{search.trim()}”. A blank form takes every kind of question.
        </p>
      )}
    </div>
  );
}
