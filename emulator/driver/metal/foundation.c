// The classes of Foundation that the Metal backend uses.
#define _GNU_SOURCE
#include "objc.h"

static void *from_utf8(NSString *self, const char *s, const char *text) { (void)s; self->text = strdup(text); return self; }
static const char *utf8(NSString *self) { return self->text; }
static void drop_string(NSString *s) { free(s->text); }
static const Method methods_NSString[] = {{"initWithUTF8String:", from_utf8}, {"UTF8String", utf8}, {NULL, NULL}};
CLASS(NSString, NSString, drop_string);
void *driver_string(const char *text) {
  NSString *s = driver_new(&class_NSString);
  s->text = strdup(text);
  return driver_auto(s);
}

static u64 array_count(NSArray *self) { return self->count; }
static void *object_at(NSArray *self, const char *s, u64 i) {
  (void)s;
  if (i >= (u64)self->count) driver_die("-[NSArray objectAtIndex:]: %llu of %d", (unsigned long long)i, self->count);
  return self->at[i];
}
static void drop_array(NSArray *a) {
  for (int i = 0; i < a->count; i++) driver_release(a->at[i]);
}
static const Method methods_NSArray[] = {{"count", array_count}, {"objectAtIndex:", object_at}, {NULL, NULL}};
CLASS(NSArray, NSArray, drop_array);

static u64 error_code(NSError *self) { return self->code; }
static void *error_domain(NSError *self) { return driver_string(self->domain); }
static void *error_text(NSError *self) { return driver_string(self->text); }
static void drop_error(NSError *e) { free(e->domain), free(e->text); }
static const Method methods_NSError[] = {
    {"code", error_code}, {"domain", error_domain}, {"localizedDescription", error_text}, {NULL, NULL}};
CLASS(NSError, NSError, drop_error);
void *driver_error(u64 code, const char *domain, const char *text) {
  NSError *e = driver_new(&class_NSError);
  e->code = code, e->domain = strdup(domain), e->text = strdup(text);
  return e;
}

static void *version(Object *self) { (void)self; return driver_string("Version 15.1 (Build 24B83)"); }
static const Method methods_NSProcessInfo[] = {{"operatingSystemVersionString", version}, {NULL, NULL}};
CLASS(NSProcessInfo, Object, NULL);
void *process_info(void) { return driver_auto(driver_new(&class_NSProcessInfo)); }
