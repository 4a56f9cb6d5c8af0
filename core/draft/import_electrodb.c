/* Entities of ElectroDB, whose schemas were written out as JSON: one, a list of them, or an object
 * of them by name. */
#include "core/draft/imported_kinds.h"

/* Which letters a key is written in. */
enum casing { CASING_LOWER, CASING_UPPER, CASING_NONE };

/* A table of a service while its entities are read. */
struct service_table {
    struct import_reader *reader;
    struct attribute_parts names;
    struct declared_table *table;
    const char *keys[2];
};

/* What the keys of an entity are made of. */
struct entity {
    struct service_table *to;
    struct json at, attributes, indexes;
    const char *name, *service, *version;
    const char *table; /* NULL when it does not say */
    bool read;         /* with all others of its table, */
    bool usable;       /* and it has that table's key */
    bool beta; /* a schema without "model", as before version 1: the version is in another place */
};

/* One key of an index: PK or SK. */
struct entity_key {
    struct entity *entity;
    struct json index, key;
    struct json last;      /* the attribute that was added last, */
    struct span last_name; /* and its name */
    bool sort;
    enum casing casing;
};

static bool electrodb_is_entity(struct json value)
{
    struct json model = json_member(value, "model");
    struct json named = json_is(model, JSON_OBJECT) ? model : value;
    return json_is(json_member(named, "entity"), JSON_STRING) &&
           json_is(json_member(named, "service"), JSON_STRING) &&
           json_is(json_member(value, "indexes"), JSON_OBJECT);
}

static bool electrodb_recognizes(struct json root)
{
    struct json first = json_first(root);
    return electrodb_is_entity(root) || (json_is(root, JSON_ARRAY) && electrodb_is_entity(first)) ||
           (json_is(root, JSON_OBJECT) && electrodb_is_entity(json_next(first)));
}

static bool electrodb_leave_out(struct entity *entity, struct json at, const char *why)
{
    import_reader_leave_out(entity->to->reader, at, "%s", why);
    return false;
}

/* Text that is the same in all keys, in the letters of the key. */
static const char *electrodb_add_text(const struct entity_key *key, struct format *format,
                                      struct span text)
{
    struct arena *arena = key->entity->to->reader->arena;
    char *copy = arena_text(arena, text);
    if (!copy)
        return "out of memory";
    for (size_t i = 0; i < text.size; i++) {
        char c = copy[i];
        if ((unsigned char)c >= 0x80 && key->casing != CASING_NONE)
            return "it changes the case of letters beyond ASCII";
        if (key->casing == CASING_LOWER && c >= 'A' && c <= 'Z')
            copy[i] = (char)(c - 'A' + 'a');
        if (key->casing == CASING_UPPER && c >= 'a' && c <= 'z')
            copy[i] = (char)(c - 'a' + 'A');
    }
    return key_template_add_literal(arena, format, span_of(copy, text.size));
}

static const char *electrodb_add_words(const struct entity_key *key, struct format *format,
                                       const char *before, const char *text)
{
    const char *wrong = electrodb_add_text(key, format, span_text(before));
    return wrong ? wrong : electrodb_add_text(key, format, span_text(text));
}

static bool electrodb_is_number(struct json attribute)
{
    return json_string_is(json_member(attribute, "type"), SPAN_LITERAL("number"));
}

/* Zeros in front of a number; any other padding can't be undone. */
static const char *electrodb_read_padding(struct json attribute, unsigned *pad)
{
    struct json padding = json_member(attribute, "padding");
    int64_t length;
    if (!json_present(padding))
        return NULL;
    if (!electrodb_is_number(attribute) ||
        !json_string_is(json_member(padding, "char"), SPAN_LITERAL("0")) ||
        !json_read_int(json_member(padding, "length"), &length) || length < 1 ||
        length > KEY_TEMPLATE_MAX_PAD)
        return "a part is padded other than by zeros in front of a number";
    *pad = (unsigned)length;
    return NULL;
}

/* A part that is an attribute. */
static const char *electrodb_add_attribute(void *context, struct span name, unsigned pad,
                                           struct format *format)
{
    struct entity_key *key = context;
    struct entity *entity = key->entity;
    struct json attribute = key->last = json_member_span(entity->attributes, name);
    key->last_name = name;
    struct json type = json_member(attribute, "type");
    enum format_case letters = electrodb_is_number(attribute) || key->casing == CASING_NONE
                                   ? FORMAT_ANY_CASE
                               : key->casing == CASING_LOWER ? FORMAT_LOWER
                                                             : FORMAT_UPPER;
    if (!json_present(attribute))
        return "a part is no attribute of the entity";
    const char *wrong = electrodb_read_padding(attribute, &pad);
    if (!wrong)
        wrong = key_template_add_spelled(&entity->to->names, format, name, letters, pad);
    if (!wrong && json_is(type, JSON_ARRAY) && key->casing == CASING_NONE)
        import_reader_add_values(entity->to->reader, entity->to->table,
                                 format->pieces[format->count - 1].param, type);
    return wrong;
}

static const char *electrodb_add_sort_prefix(const struct entity_key *key, struct format *format)
{
    struct json collection = json_member(key->index, "collection");
    struct import_reader *reader = key->entity->to->reader;
    const char *wrong = NULL;
    size_t count = 0;
    if (json_is(collection, JSON_STRING) && !json_string_is(collection, SPAN_LITERAL(""))) {
        const char *text = import_reader_text(reader, collection);
        return text ? electrodb_add_words(key, format, "$", text) : "its collection has no name";
    }
    if (!json_is(collection, JSON_ARRAY))
        return NULL;
    for (struct json each = json_first(collection); json_present(each) && !wrong;
         each = json_next(each)) {
        const char *text = import_reader_text(reader, each);
        wrong = text ? electrodb_add_words(key, format, count++ ? "#" : "$", text)
                     : "its collection has no name";
    }
    return wrong;
}

static bool electrodb_is_clustered(const struct entity_key *key)
{
    return json_string_is(json_member(key->index, "type"), SPAN_LITERAL("clustered"));
}

/* The entity's own name in a sort key: behind those of collections, before a cluster's end. */
static const char *electrodb_add_entity_name(const struct entity_key *key, struct format *format)
{
    const struct entity *entity = key->entity;
    struct json collection = json_member(key->index, "collection");
    bool collected = json_count(collection) > 0 ||
                     (json_is(collection, JSON_STRING) && json_raw(collection).size > 2);
    const char *wrong = electrodb_add_words(key, format, collected ? "#" : "$", entity->name);
    if (!wrong && !entity->beta)
        wrong = electrodb_add_words(key, format, "_", entity->version);
    return wrong;
}

/* "$service", and the version where the entity's name does not tell it. */
static const char *electrodb_add_service(const struct entity_key *key, struct format *format)
{
    const struct entity *entity = key->entity;
    const char *wrong = electrodb_add_words(key, format, "$", entity->service);
    if (!wrong && entity->beta)
        wrong = electrodb_add_words(key, format, "_", entity->version);
    return wrong;
}

/* What a key begins with when it has no template. A partition key without a sort key says what that
 * would; its scope comes last. */
static const char *electrodb_add_prefix(const struct entity_key *key, struct format *format)
{
    bool alone = !json_present(json_member(key->index, "sk"));
    const char *scope =
        import_reader_text(key->entity->to->reader, json_member(key->index, "scope"));
    const char *wrong = key->sort ? NULL : electrodb_add_service(key, format);
    if (!wrong && (key->sort || alone))
        wrong = electrodb_add_sort_prefix(key, format);
    if (!wrong && ((key->sort && !electrodb_is_clustered(key)) || alone))
        wrong = electrodb_add_entity_name(key, format);
    if (!wrong && !key->sort && scope)
        wrong = electrodb_add_words(key, format, "_", scope);
    return wrong;
}

/* "#label_" and the attribute, for each. */
static const char *electrodb_add_composite(struct entity_key *key, struct json composite,
                                           struct format *format)
{
    struct import_reader *reader = key->entity->to->reader;
    const char *wrong = NULL;
    for (struct json each = json_first(composite); json_present(each) && !wrong;
         each = json_next(each)) {
        const char *name = import_reader_text(reader, each);
        if (!name)
            return "its composite attributes are names";
        struct json attribute = json_member(key->entity->attributes, name);
        const char *label = import_reader_text(reader, json_member(attribute, "label"));
        wrong = electrodb_add_words(key, format, "#", label ? label : name);
        if (!wrong)
            wrong = electrodb_add_text(key, format, SPAN_LITERAL("_"));
        if (!wrong)
            wrong = electrodb_add_attribute(key, span_text(name), 0, format);
    }
    return wrong;
}

static struct json electrodb_composite_of(struct json key)
{
    struct json composite = json_member(key, "composite");
    return json_present(composite) ? composite : json_member(key, "facets");
}

/* Whether some attribute is stored as FIELD. */
static bool electrodb_is_stored(const struct entity *entity, const char *field)
{
    for (struct json name = json_first(entity->attributes), each; json_present(name);
         name = json_next(each)) {
        each = json_next(name);
        struct json stored = json_member(each, "field");
        if (json_string_is(json_present(stored) ? stored : name, span_text(field)))
            return true;
    }
    return false;
}

/* The template of a key, if it has one: an attribute that is the key itself is one, too. */
static const char *electrodb_template_of(struct entity_key *key)
{
    struct import_reader *reader = key->entity->to->reader;
    struct json composite = electrodb_composite_of(key->key), first = json_first(composite);
    const char *text = import_reader_text(reader, json_member(key->key, "template"));
    if (!text && json_is(composite, JSON_STRING))
        text = import_reader_text(reader, composite);
    const char *field = import_reader_text(reader, json_member(key->key, "field"));
    const char *name = json_count(composite) == 1 ? import_reader_text(reader, first) : NULL;
    if (text || !name || !field || strcmp(name, field) != 0 ||
        !electrodb_is_stored(key->entity, field))
        return text;
    CLEAN_UP(buf_clean_up) struct buf whole = {0};
    buf_printf(&whole, "${%s}", name);
    return arena_text(reader->arena, buf_span(&whole));
}

static const char *electrodb_add_template(struct entity_key *key, const char *text,
                                          struct format *format)
{
    struct key_template_parts parts = {.names = &key->entity->to->names,
                                       .notation = KEY_TEMPLATE_DOLLAR,
                                       .part = electrodb_add_attribute,
                                       .context = key};
    if (!strstr(text, "${") && strchr(text, ':'))
        return "it is in the notation of old versions, \":attribute\"";
    const char *wrong = key_template_parse(&parts, span_text(text), format);
    /* Its text was read as it stands. */
    for (size_t i = 0; !wrong && i < format->count; i++) {
        struct format folded = {0};
        if (format->pieces[i].param)
            continue;
        wrong = electrodb_add_text(key, &folded, format->pieces[i].literal);
        if (!wrong)
            format->pieces[i].literal = folded.pieces[0].literal;
    }
    return wrong;
}

/* The one attribute that a key of COMPOSITE is made of. */
static struct json electrodb_only_attribute(const struct entity_key *key, struct json composite)
{
    struct import_reader *reader = key->entity->to->reader;
    const char *name = json_count(composite) == 1 && json_is(composite, JSON_ARRAY)
                           ? import_reader_text(reader, json_first(composite))
                           : NULL;
    return name ? json_member(key->entity->attributes, name) : key->last;
}

/* Whether "cast" makes the key a number: of other types than these it is a text all the same. */
static bool electrodb_is_cast(const struct entity_key *key)
{
    struct json type =
        json_member(electrodb_only_attribute(key, electrodb_composite_of(key->key)), "type");
    return json_string_is(json_member(key->key, "cast"), SPAN_LITERAL("number")) &&
           (json_string_is(type, SPAN_LITERAL("number")) ||
            json_string_is(type, SPAN_LITERAL("string")) ||
            json_string_is(type, SPAN_LITERAL("boolean")));
}

/* Whether the key is a number since its template is one attribute that is one. */
static bool electrodb_is_numeric(const struct entity_key *key, const struct format *format,
                                 bool template)
{
    return !json_present(json_member(key->key, "cast")) && template && format_whole_param(format) &&
           electrodb_is_number(key->last);
}

static enum casing electrodb_casing_of(struct json key)
{
    struct json casing = json_member(key, "casing");
    return json_string_is(casing, SPAN_LITERAL("upper"))  ? CASING_UPPER
           : json_string_is(casing, SPAN_LITERAL("none")) ? CASING_NONE
                                                          : CASING_LOWER;
}

/* A key that is a number is the attribute alone, as it is, however texts spell it: the one that was
 * added last where there is a template. */
static const char *electrodb_add_number(struct entity_key *key, struct format *format)
{
    struct json composite = electrodb_composite_of(key->key);
    const char *only = format->count == 0 && json_count(composite) == 1
                           ? import_reader_text(key->entity->to->reader, json_first(composite))
                           : NULL;
    struct span name = format_whole_param(format) ? key->last_name : span_text(only);
    if (name.size == 0)
        return "a key that is cast to a number has one attribute";
    *format = (struct format){0};
    return key_template_add_part(&key->entity->to->names, format, name);
}

static const char *electrodb_make_key(struct entity_key *key, const char *text,
                                      struct format *format)
{
    if (text)
        return electrodb_add_template(key, text, format);
    const char *wrong = electrodb_add_prefix(key, format);
    if (!wrong)
        wrong = electrodb_add_composite(key, electrodb_composite_of(key->key), format);
    if (!wrong && key->sort && electrodb_is_clustered(key))
        wrong = electrodb_add_entity_name(key, format);
    return wrong;
}

static enum kind_key electrodb_read_key(struct entity_key *key, struct format *format,
                                        enum value_type *type)
{
    const char *text = electrodb_template_of(key);
    key->casing = electrodb_casing_of(key->key);
    *format = (struct format){0};
    bool cast = !text && electrodb_is_cast(key);
    const char *wrong = cast ? NULL : electrodb_make_key(key, text, format);
    if (!wrong &&
        (cast || electrodb_is_cast(key) || electrodb_is_numeric(key, format, text != NULL))) {
        *type = VALUE_N;
        wrong = electrodb_add_number(key, format);
    }
    if (wrong)
        electrodb_leave_out(key->entity, key->key, wrong);
    return wrong ? KIND_KEY_LEFT_OUT : KIND_KEY_FOUND;
}

/* An index of the type "composite" has attributes of the entity themselves for keys. */
static bool electrodb_is_composite(struct json index)
{
    return json_string_is(json_member(index, "type"), SPAN_LITERAL("composite"));
}

/* Where the attribute NAME is stored. */
static const char *electrodb_field_of_attribute(const struct entity *entity, struct json name)
{
    struct import_reader *reader = entity->to->reader;
    const char *text = import_reader_text(reader, name);
    struct json stored =
        text ? json_member(json_member(entity->attributes, text), "field") : (struct json){0};
    return json_present(stored) ? import_reader_text(reader, stored) : text;
}

/* The attribute of SIDE, of a composite index, that is stored as STORED; absent if there is none.
 */
static struct json electrodb_find_composite(const struct entity *entity, struct json side,
                                            const char *stored)
{
    struct json each = json_first(electrodb_composite_of(side));
    for (; json_present(each); each = json_next(each)) {
        const char *field = electrodb_field_of_attribute(entity, each);
        if (field && strcmp(field, stored) == 0)
            break;
    }
    return each;
}

static enum kind_key electrodb_read_composite(const struct entity *entity, struct json name,
                                              struct format *format, enum value_type *type)
{
    struct import_reader *reader = entity->to->reader;
    const char *text = import_reader_text(reader, name);
    struct json attribute = json_member(entity->attributes, text ? text : "");
    if (!text || !json_present(attribute) ||
        key_template_add_part(&entity->to->names, format, span_text(text))) {
        import_reader_leave_out(reader, name, "a part is no attribute of the entity");
        return KIND_KEY_LEFT_OUT;
    }
    *type = electrodb_is_number(attribute) ? VALUE_N : VALUE_S;
    format->pieces[0].open = *type == VALUE_S;
    return KIND_KEY_FOUND;
}

static bool electrodb_is_field(struct json key, const char *attribute)
{
    return json_string_is(json_member(key, "field"), span_text(attribute));
}

static enum kind_key electrodb_find_key(void *context, const char *attribute, struct format *format,
                                        enum value_type *type)
{
    struct entity *entity = context;
    for (struct json name = json_first(entity->indexes), index; json_present(name);
         name = json_next(index)) {
        index = json_next(name);
        if (electrodb_is_composite(index)) {
            struct json own = electrodb_find_composite(entity, json_member(index, "pk"), attribute);
            if (!json_present(own))
                own = electrodb_find_composite(entity, json_member(index, "sk"), attribute);
            if (json_present(own))
                return electrodb_read_composite(entity, own, format, type);
            continue;
        }
        struct entity_key pk = {.entity = entity, .index = index, .key = json_member(index, "pk")};
        struct entity_key sk = {
            .entity = entity, .index = index, .key = json_member(index, "sk"), .sort = true};
        if (electrodb_is_field(pk.key, attribute))
            return electrodb_read_key(&pk, format, type);
        if (electrodb_is_field(sk.key, attribute))
            return electrodb_read_key(&sk, format, type);
    }
    return KIND_KEY_ABSENT;
}

static void electrodb_read_projection(struct entity *entity, struct json projection,
                                      struct declared_index *index)
{
    if (json_string_is(projection, SPAN_LITERAL("all")))
        index->projects = PROJECTS_ALL;
    else if (json_string_is(projection, SPAN_LITERAL("keys_only")))
        index->projects = PROJECTS_KEYS;
    else if (json_is(projection, JSON_ARRAY))
        import_reader_add_includes(entity->to->reader, index, projection);
}

/* One side of a composite index. Another entity may have said fewer attributes of it, or more. */
static const char *electrodb_add_composite_side(struct entity *entity, struct json at,
                                                struct declared_index *index, struct json side,
                                                bool sort)
{
    const struct declared_key *keys = sort ? index->sort : index->partition;
    size_t known = sort ? index->sort_count : index->partition_count, i = 0;
    struct json composite = electrodb_composite_of(side);
    for (struct json each = json_first(composite); json_present(each);
         each = json_next(each), i++) {
        const char *field = electrodb_field_of_attribute(entity, each);
        if (!field || i == KEY_MAX_ATTRIBUTES)
            return "a side of an index has up to four attributes of the entity";
        if (i < known && strcmp(keys[i].attribute, field) != 0)
            return "another entity says other fields for this index";
        if (i >= known)
            import_reader_add_index_key(entity->to->reader, at, index, sort, field);
    }
    return i == 0 && !sort ? "an index has a partition key" : NULL;
}

static bool electrodb_same_attribute(const struct declared_key *key, size_t count,
                                     const char *attribute)
{
    return attribute ? count == 1 && strcmp(key->attribute, attribute) == 0 : count == 0;
}

static void electrodb_read_composite_index(struct entity *entity, struct json at, struct json index,
                                           const char *name)
{
    struct declared_table *table = entity->to->table;
    struct declared_index *known = import_reader_find_index(table, name);
    bool first = !known;
    if (first)
        known = import_reader_add_index(entity->to->reader, at, table, name);
    if (!known)
        return;
    const char *wrong =
        electrodb_add_composite_side(entity, at, known, json_member(index, "pk"), false);
    if (!wrong)
        wrong = electrodb_add_composite_side(entity, at, known, json_member(index, "sk"), true);
    if (wrong)
        electrodb_leave_out(entity, at, wrong);
    if (wrong && first)
        import_reader_drop_index(table, known);
    else if (first)
        electrodb_read_projection(entity, json_member(index, "projection"), known);
}

/* An index is said by each entity that is in it, always with the same attributes. */
static void electrodb_read_index(struct entity *entity, struct json at, struct json index)
{
    struct import_reader *reader = entity->to->reader;
    struct json sk = json_member(index, "sk"), type = json_member(index, "type");
    const char *name = import_reader_text(reader, json_member(index, "index"));
    const char *pk_field =
        import_reader_text(reader, json_member(json_member(index, "pk"), "field"));
    const char *sk_field = import_reader_text(reader, json_member(sk, "field"));
    if (name && electrodb_is_composite(index)) {
        electrodb_read_composite_index(entity, at, index, name);
        return;
    }
    if (json_present(type) && !json_string_is(type, SPAN_LITERAL("clustered")) &&
        !json_string_is(type, SPAN_LITERAL("isolated"))) {
        electrodb_leave_out(entity, type,
                            "an index is \"isolated\", \"clustered\" or \"composite\"");
        return;
    }
    if (!name || !pk_field || (json_present(sk) && !sk_field)) {
        electrodb_leave_out(entity, at,
                            "an index has a name, and a \"field\" for each of its keys");
        return;
    }
    struct declared_index *known = import_reader_find_index(entity->to->table, name);
    if (known) {
        if (!electrodb_same_attribute(&known->partition[0], known->partition_count, pk_field) ||
            !electrodb_same_attribute(&known->sort[0], known->sort_count, sk_field))
            electrodb_leave_out(entity, at, "another entity says other fields for this index");
        return;
    }
    known = import_reader_add_index(reader, at, entity->to->table, name);
    if (!known)
        return;
    import_reader_add_index_key(reader, at, known, false, pk_field);
    if (sk_field)
        import_reader_add_index_key(reader, at, known, true, sk_field);
    electrodb_read_projection(entity, json_member(index, "projection"), known);
}

/* The index without a name is the table's own. */
static struct json electrodb_table_index(const struct entity *entity)
{
    for (struct json name = json_first(entity->indexes), index; json_present(name);
         name = json_next(index)) {
        index = json_next(name);
        if (!json_present(json_member(index, "index")))
            return index;
    }
    return (struct json){0};
}

static const char *electrodb_table_of(struct import_reader *reader, struct json entity)
{
    struct json table = json_member(entity, "table");
    if (!json_present(table))
        table = json_member(json_member(entity, "config"), "table");
    return import_reader_text(reader, table);
}

static struct entity electrodb_entity_of(struct import_reader *reader, struct json value)
{
    struct json model = json_member(value, "model");
    bool beta = !json_is(model, JSON_OBJECT);
    struct json named = beta ? value : model;
    const char *version = import_reader_text(reader, json_member(named, "version"));
    return (struct entity){.at = value,
                           .attributes = json_member(value, "attributes"),
                           .indexes = json_member(value, "indexes"),
                           .name = import_reader_text(reader, json_member(named, "entity")),
                           .service = import_reader_text(reader, json_member(named, "service")),
                           .version = version ? version : "1",
                           .table = electrodb_table_of(reader, value),
                           .beta = beta};
}

static const char *electrodb_field_of(struct import_reader *reader, struct json index,
                                      const char *key)
{
    return import_reader_text(reader, json_member(json_member(index, key), "field"));
}

static bool electrodb_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The first entity says the attributes of the table's key; the others have the same. */
static bool electrodb_resolve_table(struct entity *entity)
{
    struct service_table *to = entity->to;
    struct json own = electrodb_table_index(entity);
    const char *pk = electrodb_field_of(to->reader, own, "pk"),
               *sk = electrodb_field_of(to->reader, own, "sk");
    if (!entity->name || !entity->service || !pk)
        return electrodb_leave_out(
            entity, entity->at,
            "an entity has a name, a service, and an index without \"index\" that "
            "says the fields of the table's key");
    if (!to->table) {
        to->table = import_reader_add_table(to->reader, entity->at,
                                            entity->table ? entity->table : entity->service,
                                            entity->table ? entity->table : IMPORT_NO_TABLE_NAME);
        to->keys[0] = pk;
        to->keys[1] = sk;
    } else if (!electrodb_same_text(to->keys[0], pk) || !electrodb_same_text(to->keys[1], sk)) {
        return electrodb_leave_out(entity, entity->at,
                                   "its table has another key than the first entity's");
    }
    return to->table;
}

static void electrodb_read_indexes(struct entity *entity)
{
    for (struct json name = json_first(entity->indexes), index; json_present(name);
         name = json_next(index)) {
        index = json_next(name);
        if (json_present(json_member(index, "index")))
            electrodb_read_index(entity, name, index);
    }
}

static void electrodb_add_entity(struct entity *entity)
{
    struct service_table *to = entity->to;
    struct imported_kind kind = {
        entity->name, entity->at, {to->keys[0], to->keys[1]}, electrodb_find_key, entity};
    imported_kinds_add(to->reader, to->table, &kind);
    import_reader_add_secrets(to->reader, to->table, entity->attributes, "field");
}

/* All entities of the first one's table. Its indexes are known before the first kind is added. */
static void electrodb_read_table(struct import_reader *reader, struct entity *entities,
                                 size_t count)
{
    struct service_table to = {.reader = reader};
    const char *table = entities[0].table;
    bool ready = attribute_parts_init(&to.names, reader->arena);
    for (size_t i = 0; i < count && ready; i++) {
        struct entity *entity = &entities[i];
        if (entity->read || !electrodb_same_text(entity->table, table))
            continue;
        entity->to = &to;
        entity->read = true;
        entity->usable = electrodb_resolve_table(entity);
        if (entity->usable)
            electrodb_read_indexes(entity);
    }
    for (size_t i = 0; i < count && to.table; i++)
        if (entities[i].usable && electrodb_same_text(entities[i].table, table))
            electrodb_add_entity(&entities[i]);
    if (to.table)
        imported_kinds_finish(reader, &to.names, entities[0].at, to.table, to.keys);
    attribute_parts_clean_up(&to.names);
}

/* The entities of ROOT; what else stands there is left out. */
static size_t electrodb_collect(struct import_reader *reader, struct json root,
                                struct entity *entities)
{
    bool object = json_is(root, JSON_OBJECT);
    size_t count = 0;
    for (struct json each = json_first(root), value; json_present(each); each = json_next(value)) {
        value = object ? json_next(each) : each;
        if (!electrodb_is_entity(value))
            import_reader_leave_out(reader, value,
                                    "this is no entity, which has a \"model\" and \"indexes\"");
        else if (count == IMPORT_MAX_KINDS)
            import_reader_leave_out(reader, value, "at most %d entities are read",
                                    IMPORT_MAX_KINDS);
        else
            entities[count++] = electrodb_entity_of(reader, value);
    }
    return count;
}

static void electrodb_read(struct import_reader *reader, struct json root)
{
    struct entity *entities = arena_array(reader->arena, IMPORT_MAX_KINDS, sizeof *entities);
    size_t count = 1;
    if (!entities)
        return;
    if (electrodb_is_entity(root))
        entities[0] = electrodb_entity_of(reader, root);
    else
        count = electrodb_collect(reader, root, entities);
    for (size_t i = 0; i < count; i++)
        if (!entities[i].read)
            electrodb_read_table(reader, &entities[i], count - i);
}

const struct import_format electrodb_format = {
    .name = "ElectroDB entity, or several",
    .looks_for = "\"model\" with \"entity\" and \"service\", beside \"indexes\"",
    .recognizes = electrodb_recognizes,
    .read = electrodb_read,
};
