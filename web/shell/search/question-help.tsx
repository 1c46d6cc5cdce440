import './question.css';
import type { ReactElement } from 'react';
import { Dialog, DialogTrigger } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Popover } from 'react-aria-components/Popover';
import { operators, signs } from '#ast/search.ts';
import { IconButton } from '../../design/button.tsx';

const rows = [...Object.values(signs), ...Object.values(operators)];

/** What may be said in a search, behind a button. */
export function QuestionHelp(): ReactElement {
  return (
    <DialogTrigger>
      <IconButton icon="info" label="How to search" size="small" />
      <Popover className="popover" placement="bottom end" offset={6}>
        <Dialog className="question-help">
          <Heading slot="title" level={2}>
            How to search
          </Heading>
          <p>All words have to be there, in any of their forms. More can be said:</p>
          {/* It can be scrolled by its keys where it is longer than the window. */}
          <section className="question-ways" aria-label="What can be said" tabIndex={0}>
            <dl>
              {rows.map(({ example, takes }) => (
                <div key={example} style={{ display: 'contents' }}>
                  <dt>
                    <code>{example}</code>
                  </dt>
                  <dd>{takes}</dd>
                </div>
              ))}
            </dl>
          </section>
          <p>A minus stands before any of them, for what must not be there.</p>
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}
