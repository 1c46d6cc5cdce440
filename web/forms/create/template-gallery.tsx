import './template-gallery.css';
import { type ReactElement, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { SearchField } from '../../design/field.tsx';
import type { Template } from '../templates/template.ts';
import { templateGroups, wordsOf } from '../templates/templates.ts';
import { TemplatePicture } from './template-picture.tsx';

/** The templates in groups, as cards with a sketch of what is in them; a word finds those that say it. */
export function TemplateGallery({
  onChoose,
  isPending,
}: {
  onChoose: (template: Template) => void;
  isPending: boolean;
}): ReactElement {
  const [search, setSearch] = useState('');
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
          <h3>{title}</h3>
          <div className="template-grid">
            {templates.map((template) => (
              <Button
                key={template.id}
                className="template"
                isDisabled={isPending}
                onPress={() => onChoose(template)}
              >
                <TemplatePicture {...template} />
                <span className="template-text">
                  <span className="template-name">{template.title}</span>
                  <span className="soft small">{template.description}</span>
                </span>
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
