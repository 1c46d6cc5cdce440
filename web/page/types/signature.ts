import { trimText } from '#ast/basics/text.ts';
import { fillTemplate } from '#ast/basics/words.ts';
import {
  addItem,
  listUploadedFiles,
  type StoredFile,
  showPicture,
  showUnsentFile,
  showUploadedFile,
} from '../file-list.ts';
import { labelButton, makeElement, type Page, type Strokes } from '../page.ts';
import { readStoredPageState } from '../page-state-storage.ts';
import { type SavedPageState } from '../saving.ts';

type Point = Strokes[number][number];

/** A signature while it is drawn or typed. */
type Signature = {
  readonly box: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  strokes: Strokes;
  name: string;
  /** Whether the signature must be uploaded. `timer` waits for a pause. */
  isWaiting: boolean;
  timer?: ReturnType<typeof setTimeout>;
  /** Aborts an upload that is outdated. */
  stop: AbortController;
  sending?: Promise<void>;
};

const pads = new Map<HTMLElement, Signature>();

/** The pause in drawing or typing after which a signature is uploaded, in ms. */
const pauseMs = 1_500;
/**
 * A drawing with more points is not restored after a reload, because it would take 100 KB of the browser's
 * storage.
 */
const mostPoints = 5_000;
/** The colors of ink and paper do not depend on the theme. */
const [ink, paper] = ['#17211e', '#fff'];

/**
 * Lets visitors draw in the signature pads of a page. A signature is uploaded as a picture before the form is
 * submitted.
 */
export function startOnPage(page: Page): void {
  const { form } = page;
  const { drawn = {} } = JSON.parse(readStoredPageState() ?? '{}') as Partial<SavedPageState>;
  const setUpPads = (): void => {
    for (const box of form.querySelectorAll<HTMLElement>('.pad')) if (!pads.has(box)) setUpPad(page, box);
  };
  setUpPads();
  for (const signature of pads.values()) {
    signature.strokes = drawn[controlOf(signature).name] ?? [];
    // Uploads the picture, unless it was kept from before a reload.
    if (!isBlank(signature)) wait(page, signature);
  }
  page.drawn = () =>
    Object.fromEntries(
      [...pads.values()]
        .filter(({ strokes }) => strokes.flat().length <= mostPoints)
        .map((signature) => [controlOf(signature).name, signature.strokes]),
    );
  form.addEventListener('rows', setUpPads);
  let isSubmitDelayed = false;
  const goOn = async (open: readonly Signature[], submitter: HTMLElement | null): Promise<void> => {
    await Promise.all(open.map((signature) => send(page, signature)));
    isSubmitDelayed = false;
    form.requestSubmit(submitter);
  };
  const delaySubmit = (event: SubmitEvent): void => {
    const open = [...pads.values()].filter(({ isWaiting, sending }) => isWaiting || sending !== undefined);
    if (open.length === 0) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (isSubmitDelayed) return;
    isSubmitDelayed = true;
    void goOn(open, event.submitter);
  };
  form.addEventListener('submit', delaySubmit, { capture: true });
}

/** Returns the text field of a pad, in which a name can be typed. */
const controlOf = ({ box }: Signature): HTMLInputElement =>
  box.parentElement!.querySelector<HTMLInputElement>(':scope > input')!;

function setUpPad(page: Page, box: HTMLElement): void {
  const canvas = makeElement('canvas', {});
  canvas.setAttribute('aria-hidden', 'true');
  const signature: Signature = {
    box,
    canvas,
    strokes: [],
    name: '',
    isWaiting: false,
    stop: new AbortController(),
  };
  pads.set(box, signature);
  const control = controlOf(signature);
  const button = (text: string | undefined, press: () => void): HTMLButtonElement => {
    const element = makeElement('button', { type: 'button' });
    labelButton(element, text ?? '', box.parentElement!.querySelector('label')!.textContent);
    element.addEventListener('click', () => {
      press();
      control.value = '';
      signature.name = '';
      change(page, signature);
      // The button is hidden with the drawing, so the focus must move elsewhere.
      if (isBlank(signature)) control.focus();
    });
    return element;
  };
  const { help, undo, clear } = box.dataset;
  const label = box.querySelector('label')!;
  box.replaceChildren(
    canvas,
    makeElement(
      'p',
      {},
      label,
      button(undo, () => signature.strokes.pop()),
      button(clear, () => (signature.strokes = [])),
    ),
  );
  // The last line of the help is the page's own text.
  box.parentElement!.querySelector('.help > :last-child')!.textContent = help ?? '';
  // A typed name is sent as a picture, not with the form.
  control.setAttribute('form', '');
  // The browser may have restored a name after a reload.
  signature.name = trimText(control.value);
  control.addEventListener('input', (event) => {
    // A typed name is an answer only after its upload.
    event.stopPropagation();
    signature.strokes = [];
    signature.name = trimText(control.value);
    change(page, signature);
  });
  control.addEventListener('focusout', (event) => {
    event.stopPropagation();
    if (signature.isWaiting) void send(page, signature);
  });
  new ResizeObserver(() => draw(signature)).observe(canvas);
  followPointer(page, signature);
}

/** Rounds a coordinate to the resolution of the picture. */
const roundCoordinate = (part: number): number => Math.round(part * 1e4) / 1e4;

function followPointer(page: Page, signature: Signature): void {
  const { canvas } = signature;
  const pointOf = ({ clientX, clientY }: PointerEvent): Point => {
    const { left, top, width } = canvas.getBoundingClientRect();
    return [roundCoordinate((clientX - left) / width), roundCoordinate((clientY - top) / width)];
  };
  canvas.addEventListener('pointerdown', (event) => {
    if (!event.isPrimary || event.button !== 0) return;
    event.preventDefault();
    canvas.setPointerCapture(event.pointerId);
    controlOf(signature).value = '';
    signature.name = '';
    signature.strokes.push([pointOf(event)]);
    change(page, signature);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!canvas.hasPointerCapture(event.pointerId)) return;
    // A fast hand produces more points than the browser draws frames.
    for (const each of event.getCoalescedEvents?.() ?? [event]) signature.strokes.at(-1)!.push(pointOf(each));
    draw(signature);
    wait(page, signature);
  });
}

/** Handles a changed drawing or name: an earlier upload is no longer valid. */
function change(page: Page, signature: Signature): void {
  signature.stop.abort();
  delete signature.sending;
  const control = controlOf(signature);
  const list = control.previousElementSibling;
  if (list?.matches('.held')) list.remove();
  draw(signature);
  if (isBlank(signature)) {
    clearTimeout(signature.timer);
    signature.isWaiting = false;
    reportChange(page);
  } else wait(page, signature);
}

const isBlank = ({ strokes, name }: Signature): boolean => strokes.length === 0 && name === '';

/** Tells the form that answers have changed, for conditions and for keeping them. */
const reportChange = ({ form }: Page): boolean => form.dispatchEvent(new Event('input'));

function wait(page: Page, signature: Signature): void {
  clearTimeout(signature.timer);
  signature.isWaiting = true;
  signature.timer = setTimeout(() => void send(page, signature), pauseMs);
}

/**
 * Uploads the signature, or waits for an upload in progress. Never rejects; a failure is shown at the field.
 */
function send(page: Page, signature: Signature): Promise<void> {
  if (signature.isWaiting) {
    clearTimeout(signature.timer);
    signature.isWaiting = false;
    signature.stop = new AbortController();
    signature.sending = post(page, signature, signature.stop.signal);
  }
  return signature.sending ?? Promise.resolve();
}

async function post(page: Page, signature: Signature, signal: AbortSignal): Promise<void> {
  const control = controlOf(signature);
  const field = control.name;
  // uploads.ts first shows the files kept over a reload, which may include this signature.
  const { readUploadError } = await import('../uploads.ts');
  const filename = `${signature.name.replaceAll(/[/\\]/g, '-') || 'signature'}.png`;
  const picture = new File([await pictureOf(signature)], filename, { type: 'image/png' });
  if (listUploadedFiles(page.form).some(([name]) => name === field)) {
    delete signature.sending;
    // The review shows the picture.
    showPicture(control.previousElementSibling!.querySelector('li')!, picture);
    page.form.dispatchEvent(new CustomEvent('files', { detail: field }));
    return;
  }
  const body = new FormData();
  body.append(field, picture);
  const request = { method: 'POST', headers: { Accept: 'application/json' }, body, signal };
  // If there is no response, the visitor is informed and can send it again.
  const { isStored, text } = await fetch(page.data.upload, request)
    .then(async (response) => ({ isStored: response.ok, text: await response.text() }))
    .catch(() => ({ isStored: false, text: '' }));
  if (signal.aborted) return;
  delete signature.sending;
  const item = addItem(control);
  showPicture(item, picture);
  if (isStored) showUploadedFile(page, item, field, JSON.parse(text) as StoredFile);
  else {
    const again = makeElement('button', {
      type: 'button',
      className: 'drop',
      textContent: page.data.words.tryAgain,
    });
    again.addEventListener('click', () => {
      item.parentElement!.remove();
      signature.isWaiting = true;
      void send(page, signature);
      control.focus();
    });
    const reason = readUploadError(text) ?? fillTemplate(page.data.words.uploadFailed, { filename });
    showUnsentFile(page, item, { filename, reason, again });
  }
  page.form.dispatchEvent(new CustomEvent('files', { detail: field }));
  reportChange(page);
}

/** Returns the signature as a PNG that is twice as wide as the widest pad. */
function pictureOf(signature: Signature): Promise<Blob> {
  const large = makeElement('canvas', { width: 1_024, height: 410 });
  drawOn(large, signature);
  return new Promise((resolve) => large.toBlob((blob) => resolve(blob!)));
}

function draw(signature: Signature): void {
  const { box, canvas } = signature;
  const { width, height } = canvas.getBoundingClientRect();
  canvas.width = Math.round(width * devicePixelRatio);
  canvas.height = Math.round(height * devicePixelRatio);
  drawOn(canvas, signature, 'transparent');
  box.classList.toggle('drawn', !isBlank(signature));
}

function drawOn(canvas: HTMLCanvasElement, { strokes, name }: Signature, ground = paper): void {
  const context = canvas.getContext('2d')!;
  const { width, height } = canvas;
  context.fillStyle = ground;
  context.fillRect(0, 0, width, height);
  context.strokeStyle = context.fillStyle = ink;
  context.lineWidth = width / 200;
  context.lineCap = context.lineJoin = 'round';
  for (const stroke of strokes) drawStroke(context, stroke, width);
  if (name === '') return;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  const fontOf = (em: number): string => `${em}px "Snell Roundhand", "Segoe Script", "Bradley Hand", cursive`;
  const most = height / 3;
  context.font = fontOf(most);
  context.font = fontOf(Math.min(most, (most * 0.9 * width) / context.measureText(name).width));
  context.fillText(name, width / 2, height * 0.6);
}

/** Draws a line through the midpoints between its points, which smooths it; a tap is a dot. */
function drawStroke(context: CanvasRenderingContext2D, stroke: readonly Point[], scale: number): void {
  const points = stroke.map(([x, y]): Point => [x * scale, y * scale]);
  const [first, last] = [points[0]!, points.at(-1)!];
  context.beginPath();
  context.moveTo(...first);
  for (const [index, [x, y]] of points.entries()) {
    const [nextX, nextY] = points[index + 1] ?? [x, y];
    context.quadraticCurveTo(x, y, (x + nextX) / 2, (y + nextY) / 2);
  }
  context.lineTo(...last);
  context.stroke();
}
