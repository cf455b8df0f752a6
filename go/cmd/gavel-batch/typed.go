package main

import (
	"encoding/base64"
	"math"
	"strconv"
	"time"

	"gavel.dev/go/gavel"
)

// typed converts a value to typed JSON.
func typed(value any) object {
	switch value := value.(type) {
	case nil:
		return object{"null": true}
	case bool:
		return object{"bool": value}
	case int64:
		return object{"int": strconv.FormatInt(value, 10)}
	case uint64:
		return object{"uint": strconv.FormatUint(value, 10)}
	case float64:
		return object{"double": double(value)}
	case string:
		return object{"string": value}
	case []byte:
		return object{"bytes": base64.StdEncoding.EncodeToString(value)}
	case time.Time:
		return object{"timestamp": value.Format(time.RFC3339Nano)}
	case time.Duration:
		return object{"duration": value.String()}
	case gavel.Type:
		return object{"type": string(value)}
	case gavel.HeldError:
		return object{"error": string(value)}
	case gavel.Optional:
		if !value.Set {
			return object{"optional": nil}
		}
		return object{"optional": typed(value.Value)}
	case gavel.Opaque:
		return opaque(value)
	case gavel.Object:
		fields := object{}
		for name, field := range value.Fields {
			fields[name] = typed(field)
		}
		return object{"object": object{"type": value.Type, "fields": fields}}
	case []any:
		list := make([]object, len(value))
		for i, item := range value {
			list[i] = typed(item)
		}
		return object{"list": list}
	case gavel.Map:
		pairs := make([][2]object, len(value))
		for i, entry := range value {
			pairs[i] = [2]object{typed(entry.Key), typed(entry.Value)}
		}
		return object{"map": pairs}
	}
	return object{"opaque": "not known to gavel-batch"}
}

func opaque(value gavel.Opaque) object {
	switch value.Kind {
	case "quantity", "url", "ip", "cidr", "semver", "format":
		return object{value.Kind: value.Text}
	}
	// A value that is nested too deeply has no text.
	if value.Kind == "too deep" {
		return object{"opaque": value.Kind}
	}
	return object{"opaque": value.Kind, "string": value.Text}
}

// double formats a number as the protocol does.
func double(value float64) string {
	switch {
	case math.IsNaN(value):
		return "NaN"
	case math.IsInf(value, 0):
		return map[bool]string{true: "Infinity", false: "-Infinity"}[value > 0]
	}
	return strconv.FormatFloat(value, 'g', -1, 64)
}
