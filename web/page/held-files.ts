/** What the server answers to a file (src/page/upload-route.ts): its token stands for it in the form. `size` in bytes. */
export type StoredFile = {
  readonly token: string;
  readonly filename: string;
  readonly size: number;
  readonly content_type: string;
};

/** Where a file stands that was chosen and has not arrived: on its way, or waiting for the visitor to decide. */
type Unsent = readonly [input: HTMLInputElement, filename: string, item: HTMLElement];

/** The files that were chosen and have not arrived, each at its field. */
export function unsentOf(parent: HTMLElement): Unsent[] {
  return [...parent.querySelectorAll<HTMLElement>('.held li:not(:has([name^="_file["]))')].map((item) => [
    item.parentElement!.nextElementSibling as HTMLInputElement,
    item.dataset['filename'] ?? '',
    item,
  ]);
}

/** The files that have arrived, by the name of their field; those that the visitor drops left out. */
export function heldOf(form: HTMLFormElement): [field: string, file: StoredFile][] {
  return [...form.querySelectorAll<HTMLElement>('.held li')].flatMap((item) => {
    const held = item.querySelector<HTMLInputElement>('[name^="_file["]');
    if (!held || item.querySelector('[name=_drop]:checked')) return [];
    const { filename = '', size, type = '' } = item.dataset;
    const file = { token: held.value, filename, size: Number(size), content_type: type };
    return [[held.name.slice('_file['.length, -1), file]];
  });
}
