import { ApiError } from '#kit/errors.ts';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import { sourceOf } from '../other-sites.ts';
import { type FormRequest, type OpenContext, openKnownForm } from '../visit/open-visit.ts';
import { type CountingContext, countWay, readCourses } from './count-visit.ts';
import { visitControl } from './course.ts';
import { mayCount } from './is-counted.ts';

type Context = OpenContext & CountingContext & { readonly config: { readonly publicUrl: string } };

/** The longest way of a visit, through every step of a form, is shorter. */
const bodyLimit = 16_384;

/**
 * `POST /f/<id>/visit`: how far a visit has come whose page is hidden or left, told by its script in the control `_visit`.
 * It is counted and not kept, and 204 whether it counts or not: who would inflate the counts learns nothing.
 */
export function visitRoute(server: Server, context: Context): void {
  server.post('/f/:id/visit', { bodyLimit }, async (request: FormRequest, reply) => {
    const visit = await openKnownForm(context, request);
    const told = request.body instanceof URLSearchParams ? request.body.get(visitControl) : null;
    if (told === null) throw new ApiError('bad_request', `Send the control "${visitControl}" of the page.`);
    const isOurs = sourceOf(request, visit.live.settings, context.config.publicUrl).kind === 'own';
    // Only a page whose visit is counted has something to tell, whatever its browser calls itself when it leaves.
    if (isOurs && mayCount(visit.live.settings, request.headers))
      countWay(context, visit, request, readCourses(visit.live.form, told).way, true);
    return reply.code(204).send();
  });
  refuseOtherMethods(server, '/f/:id/visit', ['POST']);
}
